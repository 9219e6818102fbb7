/** Code that the virtual machine compiles at run time; null pointers and full stacks, which it finds by SIGSEGV. */
public class Compiled {
    static long javaWork(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i % 7 * (sum & 3);
        }
        return sum;
    }

    static int depth(int n) {
        return depth(n + 1) + 1;
    }

    public static void main(String[] words) throws Exception {
        long sum = 0;
        int caught = 0;
        Thread thread = new Thread(() -> javaWork(200_000_000));
        thread.start();
        for (int i = 0; i < 400; i++) {
            sum += javaWork(500_000);
            try {
                caught += (i % 2 == 0 ? null : "x").length();
            } catch (NullPointerException error) {
                caught++;
            }
        }
        for (int i = 0; i < 5; i++) {
            try {
                depth(0);
            } catch (StackOverflowError error) {
                caught++;
            }
        }
        System.gc();
        thread.join();
        System.out.println(sum + " " + caught);
        System.exit(8);
    }
}
