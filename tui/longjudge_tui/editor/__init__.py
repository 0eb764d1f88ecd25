"""The rubric editor: the text, what reaches the judge, what it costs, and every version of it."""
