"""scikit-learn in the two processes of a multiprocessing.Pool: 40 tasks."""
import multiprocessing
import warnings

import numpy
from sklearn.linear_model import SGDClassifier


def fit(seed):
    warnings.simplefilter("ignore")
    random = numpy.random.RandomState(seed)
    inputs = numpy.abs(numpy.fft.rfft(random.rand(2000, 256)))
    return SGDClassifier(max_iter=20, random_state=seed).fit(inputs, inputs[:, 1] > inputs[:, 2]).score(inputs, inputs[:, 1] > inputs[:, 2])


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(fit, range(40), chunksize=1)))
