"""Clients in plain Python: a program that works with a world in process can work with a server over the wire.

``osp`` steps a world in lockstep and reads and writes its variables, ``odcp`` sets motor angles.
"""
