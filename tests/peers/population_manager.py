#!/usr/bin/env python3
"""A Population Manager written from the document alone: keeps the better half of each generation, and varies it.

It prints the best fitness of each generation, one per line, and ends after the last one.
"""

import argparse
import random
import socket


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="127.0.0.1:7720")
    parser.add_argument("--population", type=int, default=10)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    host, port = options.robot.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        reader = connection.makefile("r", encoding="ascii", newline="\r\n")

        def send(*words):
            connection.sendall((" ".join(map(str, words)) + "\r\n").encode("ascii"))

        def receive(name):
            words = reader.readline().split()
            if not words or words[0] != name:
                raise SystemExit(f"{name} was expected, not {words}")
            return [float(word) for word in words[1:]]

        send("SendNetParameters")
        parameters = receive("NetParameters")
        if len(parameters) != 22:
            raise SystemExit(f"{len(parameters)} net parameters")
        (concurrent, cgp, lgp, hgp, cin, vin, lin, hin, con, von, lon, hon) = parameters[:12]
        (least, most, vhn, lhn, hhn, vw, lw, hw, _, _) = parameters[12:]
        hidden = int(least)
        limits = [(lgp, hgp)] * int(cgp) + [(lin, hin)] * int(cin * vin) + [(lon, hon)] * int(con * von)
        limits += [(lhn, hhn)] * int(hidden * vhn) + [(lw, hw)] * int((cin + hidden + con) * (hidden + con) * vw)

        def varied(genes):
            def change(gene, low, high):
                moved = gene + choose.gauss(0.0, 0.1 * (high - low)) if choose.random() < 0.3 else gene
                return min(max(moved, low), high)

            return [change(gene, low, high) for gene, (low, high) in zip(genes, limits)]

        population = [[choose.uniform(low, high) for low, high in limits] for _ in range(options.population)]
        for generation in range(1, options.generations + 1):
            fitness, waiting, unfinished = {}, list(range(options.population)), set()
            while waiting or unfinished:
                while waiting and len(unfinished) < concurrent:
                    index = waiting.pop(0)
                    unfinished.add(index)
                    send("Individual", generation, index + 1, hidden, *(f"{gene:.6f}" for gene in population[index]))
                of, individual, value = receive("Fitness")
                if of != generation or individual - 1 not in unfinished:
                    raise SystemExit(f"the fitness of individual {individual} of generation {of} was not asked for")
                unfinished.remove(int(individual) - 1)
                fitness[int(individual) - 1] = value
            order = sorted(fitness, key=fitness.get, reverse=True)
            print(f"{fitness[order[0]]:.6f}", flush=True)
            parents = [population[index] for index in order[: max(1, len(order) // 2)]]
            population = parents + [varied(choose.choice(parents)) for _ in range(options.population - len(parents))]


if __name__ == "__main__":
    main()
