"""Every refusal, its advice followed, leads to a run that ends well."""
