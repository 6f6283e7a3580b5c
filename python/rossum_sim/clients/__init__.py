"""Clients in plain Python: a program that works with a world in process can work with a server over the wire.

``osp`` steps a world in lockstep and reads and writes its variables, ``odcp`` sets motor angles, ``soccer`` plays, watches and trains
in RoboCup's league, ``evo`` evaluates evolving robots and moves them through their world, and ``oz`` operates a puppet.
"""
