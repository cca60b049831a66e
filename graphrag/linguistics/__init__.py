"""Reading Spanish, French and English: language, words, sentences, numbers, dates, names."""
