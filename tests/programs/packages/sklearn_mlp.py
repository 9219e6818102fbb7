"""scikit-learn: MLPClassifier.fit() makes 20 passes of 30 batches."""
import warnings

import numpy
from sklearn.neural_network import MLPClassifier

warnings.simplefilter("ignore")
random = numpy.random.RandomState(0)
inputs = random.rand(6000, 64)
model = MLPClassifier((100,), max_iter=20, batch_size=200, random_state=0).fit(inputs, inputs[:, 0] + inputs[:, 1] * inputs[:, 2] > .7)
print(model.n_iter_, "passes")
