"""The version of gilscope. The wheel's metadata reads it from here, too."""

VERSION = "0.1.0"
