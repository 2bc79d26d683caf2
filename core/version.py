"""Which gilscope this is: the one place, which the wheel's metadata is made from as well."""

VERSION = "0.1.0"
