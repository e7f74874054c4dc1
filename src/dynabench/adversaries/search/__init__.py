"""Searches that change a text a little until the target errs: words for words, letters for letters, transformations.

In the manner of TextFooler (Jin et al., AAAI 2020), BERT-Attack (Li et al., EMNLP 2020) and DeepWordBug (Gao et al.,
2018): the words that matter most are found by leaving each out, and changed in that order, within constraints.
"""
