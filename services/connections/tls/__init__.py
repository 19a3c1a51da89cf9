"""TLS to database servers: policy, certificates a person accepted, sockets."""
