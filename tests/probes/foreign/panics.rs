// Threads that panic, and a stack overflow's handler that the runtime installs; names of generic functions.

fn keep<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

mod deep {
    use super::keep;
    pub struct Worker<T>(pub T);
    impl<T: Copy + Into<u64>> Worker<T> {
        #[inline(never)]
        pub fn rust_work(&self, n: u64) -> u64 {
            let mut sum = 0u64;
            for i in 0..n {
                sum = keep(sum.wrapping_add(i * self.0.into()));
            }
            sum
        }
    }
}

#[inline(never)]
fn fails(depth: u32) -> u64 {
    if depth == 0 {
        panic!("planted");
    }
    fails(keep(depth - 1)) + 1
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let threads: Vec<_> = (0..4u32)
        .map(|i| {
            std::thread::spawn(move || {
                let sum = deep::Worker(i + 1).rust_work(60_000_000);
                let mut caught = 0;
                for _ in 0..200 {
                    caught += std::panic::catch_unwind(|| fails(50)).is_err() as u64;
                }
                if i == 3 {
                    fails(3);
                }
                (sum, caught)
            })
        })
        .collect();
    for thread in threads {
        println!("{:?}", thread.join().ok());
    }
    std::process::exit(6);
}
