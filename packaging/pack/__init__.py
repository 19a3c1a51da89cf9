"""Makes the packages that people install; runs in .venv-package, by the verb `package` of bootstrap.py."""
