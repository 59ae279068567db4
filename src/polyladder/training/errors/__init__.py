"""How far targets lie from predictions, as a function of the inputs: learned from errors at rows left out."""
