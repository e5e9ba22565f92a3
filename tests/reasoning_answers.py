"""Answers of the reasoning problems, worked out from their data and not from the answer key."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, combinations, count, pairwise, permutations, product
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
Solver = Callable[[], str]
SOLUTIONS: dict[str, Solver] = {}


def solves(number: int) -> Callable[[Solver], Solver]:
    def register(solver: Solver) -> Solver:
        key = f"reasoning-{number:03d}"
        assert key not in SOLUTIONS
        SOLUTIONS[key] = solver
        return solver

    return register


def only(values: Iterable[T]) -> T:
    """The single distinct value: a problem with two solutions fails here."""
    (value,) = set(values)
    return value


def clock(minutes: Fraction | int) -> str:
    assert Fraction(minutes).denominator == 1
    hours, rest = divmod(int(minutes), 60)
    return f"{hours:02d}:{rest:02d}"


def fewest_moves(start: T, done: Callable[[T], bool], moves: Callable[[T], Iterable[T]]) -> int:
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        state, steps = queue.popleft()
        if done(state):
            return steps
        new = set(moves(state)) - seen
        seen |= new
        queue.extend((following, steps + 1) for following in new)
    raise ValueError("the goal is out of reach")


def shares(outcomes: Iterable[bool]) -> str:
    tally = Counter(outcomes)
    return str(Fraction(tally[True], tally.total()))


@solves(1)
def bakery_van() -> str:
    driving = Fraction(42 * 60, 56) + Fraction(42 * 60, 63)
    return clock(6 * 60 + 50 + 25 + driving)


@solves(2)
def closed_strings() -> str:
    return str(
        sum(s[0] == s[-1] and all(a != b for a, b in pairwise(s)) for s in product("ABC", repeat=5))
    )


@solves(3)
def three_islanders() -> str:
    def consistent(ana: bool, boris: bool, chloe: bool) -> bool:
        claims = (ana + boris + chloe == 1, not ana, boris != chloe)
        return claims == (ana, boris, chloe)

    world = only(w for w in product((True, False), repeat=3) if consistent(*w))
    return ", ".join(
        name for name, knight in zip(("Ana", "Boris", "Chloé"), world, strict=True) if knight
    )


@solves(4)
def beads() -> str:
    return str(only(n for n in range(385) if (n % 5, n % 7, n % 11) == (2, 3, 5)))


@solves(5)
def heavy_token() -> str:
    @cache
    def weighings(tokens: int) -> int:
        if tokens <= 1:
            return 0
        pans = range(1, tokens // 2 + 1)
        return 1 + min(max(weighings(pan), weighings(tokens - 2 * pan)) for pan in pans)

    return str(weighings(40))


@solves(6)
def five_saturdays() -> str:
    leap = (y for y in range(1904, 2097, 4) if date(y, 1, 1).isoweekday() == 7)

    def months(year: int) -> int:
        days = (date(year, 1, 1) + timedelta(n) for n in range(366))
        saturdays = Counter(d.month for d in days if d.isoweekday() == 6)
        return sum(times == 5 for times in saturdays.values())

    return str(only(months(year) for year in leap))


@solves(7)
def points_in_triangle() -> str:
    return str(sum(6 * x + 8 * y < 48 for x in range(1, 8) for y in range(1, 6)))


@solves(8)
def both_colours_late() -> str:
    return shares(len(set(order[:3])) == 1 for order in permutations("rrrrbbb"))


@solves(9)
def two_carpenters() -> str:
    hours = dict(zip("ABCDEF", (3, 2, 4, 3, 2, 4), strict=True))
    before = {"C": "A", "D": "AB", "E": "D"}

    def finish(order: tuple[str, ...], workers: tuple[int, ...]) -> int:
        end: dict[str, int] = {}
        free = [0, 0]
        for job, worker in zip(order, workers, strict=True):
            ready = max((end[b] for b in before.get(job, "")), default=0)
            free[worker] = end[job] = max(ready, free[worker]) + hours[job]
        return max(free)

    def allowed(order: tuple[str, ...]) -> bool:
        return all(order.index(b) < order.index(job) for job in before for b in before[job])

    orders = list(filter(allowed, permutations(hours)))
    return str(min(finish(o, w) for o in orders for w in product((0, 1), repeat=6)))


@solves(10)
def pebbles() -> str:
    @cache
    def mover_wins(heap: int) -> bool:
        return any(not mover_wins(heap - take) for take in (1, 3, 4) if take <= heap)

    return str(sum(not mover_wins(heap) for heap in range(1, 31)))


@solves(11)
def digit_sum_sequence() -> str:
    term = 4
    while term <= 100:
        term += sum(map(int, str(term)))
    return str(term)


@solves(12)
def quickest_footpath() -> str:
    paths = ["PQ7", "PR3", "QR2", "QS4", "RS9", "RT8", "ST1", "SU7", "TU4"]
    minutes = {frozenset(p[:2]): int(p[2]) for p in paths}
    walks = (("P", *middle, "U") for n in range(5) for middle in permutations("QRST", n))
    legs = ([frozenset(leg) for leg in pairwise(walk)] for walk in walks)
    return str(min(sum(minutes[leg] for leg in w) for w in legs if minutes.keys() >= set(w)))


@solves(13)
def bubble_sort() -> str:
    numbers, swaps = [5, 1, 4, 2, 8, 3], 0
    for _ in numbers:
        for i in range(len(numbers) - 1):
            if numbers[i] > numbers[i + 1]:
                numbers[i], numbers[i + 1] = numbers[i + 1], numbers[i]
                swaps += 1
    assert numbers == sorted(numbers)
    return str(swaps)


@solves(14)
def leaking_tap() -> str:
    drops = (9000 - 9000 * Fraction(40, 100)) * 20
    return str(drops / Fraction(3, 2) / 3600)


@solves(15)
def hikers() -> str:
    exact = {"MCW": 5}
    for pair, both in (("MC", 14), ("MW", 9), ("CW", 8)):
        exact[pair] = both - exact["MCW"]
    for item, having in (("M", 34), ("C", 27), ("W", 22)):
        exact[item] = having - sum(n for group, n in exact.items() if item in group)
    assert min(exact.values()) >= 0 and sum(exact.values()) <= 60
    return str(sum(exact[item] for item in "MCW"))


@solves(16)
def mira() -> str:
    ages = product(range(4, 121), repeat=2)
    return str(only(m for m, c in ages if m - 4 == 3 * (c - 4) and m + 8 == 2 * (c + 8)))


@solves(17)
def clock_hands() -> str:
    minute = 24
    gap = abs(Fraction(360, 720) * (8 * 60 + minute) - Fraction(360, 60) * minute)
    return str(min(gap, 360 - gap))


@solves(18)
def knight_after_two_moves() -> str:
    steps = [(a * i, b * j) for a, b in ((1, 2), (2, 1)) for i in (1, -1) for j in (1, -1)]
    squares = {(0, 0)}
    for _ in range(2):
        landed = {(x + dx, y + dy) for x, y in squares for dx, dy in steps}
        squares = {(x, y) for x, y in landed if 0 <= x < 8 and 0 <= y < 8}
    return str(len(squares))


@solves(19)
def miners() -> str:
    # Cheapest first: a state is the set of miners on the lamp's side, and whether that is outside.
    everyone = frozenset({2, 3, 8, 9})
    queue, order = [(0, 0, everyone, False)], count(1)
    while queue:
        minutes, _, here, outside = heappop(queue)
        if outside and here == everyone:
            return str(minutes)
        for group in (set(g) for n in (1, 2) for g in combinations(here, n)):
            there = (everyone - here) | group
            heappush(queue, (minutes + max(group), next(order), there, not outside))
    raise AssertionError


@solves(20)
def sevens() -> str:
    return str(sum("7" in str(n) for n in range(7, 501, 7)))


@solves(21)
def corridor() -> str:
    lit: set[int] = set()
    for walk in range(1, 60, 2):
        lit ^= set(range(walk, 61, walk))
    return str(len(lit))


@solves(22)
def parrot() -> str:
    week = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    def lies(day: int) -> bool:
        return day % 7 < 3

    return only(week[d] for d in range(7) if all(lies(d + shift) != lies(d) for shift in (-1, 3)))


@solves(23)
def row_of_chairs() -> str:
    def fits(row: tuple[str, ...]) -> bool:
        seat = row.index
        apart = all(abs(seat(a) - seat(b)) > 1 for a, b in ("KL", "JL", "JI"))
        return seat("L") == 0 and seat("I") == seat("K") + 1 and apart

    names = {name[0]: name for name in ("Ida", "Jon", "Kim", "Leo", "Mei")}
    return names[only(row for row in permutations(names) if fits(row))[2]]


@solves(24)
def two_jugs() -> str:
    def pour(source: int, target: int, room: int) -> tuple[int, int]:
        amount = min(source, room - target)
        return source - amount, target + amount

    def moves(state: tuple[int, int]) -> Iterator[tuple[int, int]]:
        large, small = state
        yield from ((7, small), (0, small), (large, 4), (large, 0))
        yield pour(large, small, 4)
        yield pour(small, large, 7)[::-1]

    start: tuple[int, int] = (0, 0)
    return str(fewest_moves(start, lambda state: state[0] == 5, moves))


@solves(25)
def league() -> str:
    matches = len(list(combinations(range(6), 2)))
    return str(only(d for d in range(matches + 1) if 2 * d + 3 * (matches - d) == 41))


@solves(26)
def five_numbers() -> str:
    lower, upper = combinations(range(1, 10), 2), list(combinations(range(11, 46), 2))
    fives = ((*low, 10, *high) for low in lower for high in upper)
    return str(max(five[-1] for five in fives if sum(five) == 5 * 9))


@solves(27)
def brine() -> str:
    salt = Fraction(60 * 20, 100)
    for rinse in count(1):
        salt -= salt * 15 / 60
        if salt / 60 < Fraction(5, 100):
            return str(rinse)
    raise AssertionError


@solves(28)
def cistern() -> str:
    pump_a, pump_b, drain = Fraction(1, 360), Fraction(1, 600), Fraction(1, 900)
    level, minute = Fraction(0), 8 * 60
    while level < 1:
        level += pump_b - drain + (pump_a if minute >= 10 * 60 else 0)
        minute += 1
    assert level == 1
    return clock(minute)


@solves(29)
def reversed_digits() -> str:
    def fits(n: int) -> bool:
        text = str(n)
        return int(text[::-1]) == n + 297 and sum(map(int, text)) == 16 and n % 8 == 0

    return str(only(n for n in range(100, 1000) if fits(n)))


@solves(30)
def courier() -> str:
    def crossings(easts: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        for steps in range(10):
            east = sum(e < steps for e in easts)
            yield east, steps - east

    return str(sum((2, 2) not in crossings(easts) for easts in combinations(range(9), 5)))


@solves(31)
def three_dice() -> str:
    return shares(2 * max(roll) == sum(roll) for roll in product(range(1, 7), repeat=3))


@solves(32)
def calculator() -> str:
    display = 1
    for _ in range(50):
        display = display * 13 % 100
    return f"{display:02d}"


@solves(33)
def courtyard() -> str:
    def pavings(free: frozenset[tuple[int, int]]) -> int:
        if not free:
            return 1
        x, y = min(free)
        slabs = (frozenset({(x, y), other}) for other in ((x + 1, y), (x, y + 1)))
        return sum(pavings(free - slab) for slab in slabs if slab <= free)

    return str(pavings(frozenset(product(range(6), range(3)))))


@solves(34)
def painted_block() -> str:
    def faces(x: int, y: int, z: int) -> int:
        return (x == 0) + (x == 3) + (y == 0) + (y == 4) + (z == 5)

    return str(sum(faces(*cube) == 2 for cube in product(range(4), range(5), range(6))))


@solves(35)
def drawers() -> str:
    def true_labels(key: str) -> int:
        return (key != "red") + (key in {"red", "green"}) + (key == "blue")

    return only(key for key in ("red", "green", "blue") if true_labels(key) == 1)


@solves(36)
def counting_out() -> str:
    circle = deque(range(1, 12))
    while len(circle) > 1:
        circle.rotate(-3)
        circle.popleft()
    return str(circle[0])


@solves(37)
def number_base() -> str:
    base = only(b for b in range(6, 37) if int("23", b) * int("4", b) == int("125", b))
    value, digits = int("25", base) * int("5", base), ""
    while value:
        value, digit = divmod(value, base)
        digits = str(digit) + digits
    return digits


@solves(38)
def ticket_bundles() -> str:
    sums = {6 * a + 10 * b + 15 * c for a, b, c in product(range(40), repeat=3)}
    return str(max(set(range(200)) - sums))


@solves(39)
def two_trains() -> str:
    minute, gap = 9 * 60, Fraction(180)
    while gap > 0:
        gap -= Fraction(50, 60) + (Fraction(40, 60) if minute >= 9 * 60 + 36 else 0)
        minute += 1
    assert gap == 0
    return clock(minute)


@solves(40)
def skaters() -> str:
    leads = (second * (Fraction(11, 2) - 4) for second in range(1, 45 * 60 + 1))
    return str(sum(lead % 600 == 0 for lead in leads))


@solves(41)
def socks() -> str:
    hands = product(range(9), range(7), range(6), range(4))
    return str(1 + max(sum(hand) for hand in hands if sum(n // 2 for n in hand) < 3))


@solves(42)
def magic_square() -> str:
    def left_middles() -> Iterator[int]:
        for total, centre in product(range(-100, 200), repeat=2):
            bottom_left, bottom_right = total - 6 - centre, total - 11 - centre
            top_middle, left = total - 11 - 6, total - 11 - bottom_left
            right = total - 6 - bottom_right
            lines = (
                bottom_left + 9 + bottom_right,
                top_middle + centre + 9,
                left + centre + right,
            )
            if set(lines) == {total}:
                yield left

    return str(only(left_middles()))


@solves(43)
def neighbouring_pegs() -> str:
    # State: the peg of each disc, smallest disc first.
    def moves(pegs: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for disc, peg in enumerate(pegs):
            for target in {peg - 1, peg + 1} & {0, 1, 2}:
                if not {peg, target} & set(pegs[:disc]):
                    yield (*pegs[:disc], target, *pegs[disc + 1 :])

    start: tuple[int, ...] = (0, 0, 0)
    return str(fewest_moves(start, lambda pegs: pegs == (2, 2, 2), moves))


@solves(44)
def vera_and_wim() -> str:
    def vera_wins(vera: int, wim: int, beginner: str) -> Fraction:
        if 2 in (vera, wim):
            return Fraction(vera == 2)
        chance = Fraction(2, 3) if beginner == "Vera" else Fraction(1, 3)
        won, lost = vera_wins(vera + 1, wim, "Wim"), vera_wins(vera, wim + 1, "Vera")
        return chance * won + (1 - chance) * lost

    return str(vera_wins(1, 0, "Wim"))


@solves(45)
def off_centre_squares() -> str:
    squares = (
        (row, column, size)
        for size in range(1, 6)
        for row in range(6 - size)
        for column in range(8 - size)
    )
    return str(sum(not (r <= 2 < r + size and c <= 3 < c + size) for r, c, size in squares))


@solves(46)
def rotten_step() -> str:
    climbs = (steps for n in range(5, 11) for steps in product((1, 2), repeat=n))
    feet = (list(accumulate(steps)) for steps in climbs)
    return str(sum(f[-1] == 10 and 6 not in f for f in feet))


@solves(47)
def secret_word() -> str:
    letters = (ord(c) - ord("A") for c in "NGDHTC")
    return "".join(chr(ord("a") + (n - shift) % 26) for shift, n in enumerate(letters, 1))


@solves(48)
def running_order() -> str:
    order = ["Petra", "Quinn", "Rosa", "Sami", "Tove", "Uma"]
    order.insert(len(order) - 4, order.pop())
    order.insert(2, order.pop(0))
    order[2], order[3] = order[3], order[2]
    order.insert(0, order.pop(4))
    return order[2]


@solves(49)
def perfect_shuffles() -> str:
    pack = start = list(range(12))
    for shuffles in count(1):
        pack = [card for pair in zip(pack[:6], pack[6:], strict=True) for card in pair]
        assert (pack[0], pack[-1]) == (0, 11)
        if pack == start:
            return str(shuffles)
    raise AssertionError


@solves(50)
def tile_rectangles() -> str:
    shapes = Counter(a * b for a in range(1, 101) for b in range(1, a + 1) if a * b <= 100)
    return str(sum(different == 3 for different in shapes.values()))


@solves(51)
def buoys() -> str:
    flashes = (sum(t % period == 0 for period in (12, 15, 18)) for t in range(1, 3601))
    return str(sum(number == 2 for number in flashes))


@solves(52)
def honey_jar() -> str:
    # The honey of a full jar, seen from each weighing.
    return str(only(j for j in range(416) if (740 - j) * Fraction(3, 2) == (415 - j) * 4))


@solves(53)
def coat() -> str:
    steps = Fraction(120, 100) * Fraction(75, 100) * Fraction(110, 100)
    return str(only(price for price in range(1, 1000) if price * steps == 198))


@solves(54)
def beetle() -> str:
    height = 0
    for day in count(1):
        height += 4
        if height >= 15:
            return str(day)
        height -= 2 if day % 2 else 1
    raise AssertionError


@solves(55)
def greenhouse() -> str:
    grown, seedlings = 0, 1
    for _ in range(7):
        grown, seedlings = grown + seedlings, 2 * grown
    return str(grown + seedlings)


@solves(56)
def robot() -> str:
    place, heading = 0j, 1j
    for run in range(1, 11):
        place += run * heading
        heading *= -1j
    return str(int(abs(place.real) + abs(place.imag)))


@solves(57)
def counter_on_strip() -> str:
    # In units of the chance from square 1; every inner square averages its two neighbours.
    up, chance = Fraction(2, 3), [Fraction(0), Fraction(1)]
    while len(chance) < 6:
        chance.append((chance[-1] - (1 - up) * chance[-2]) / up)
    return str(chance[2] / chance[5])


@solves(58)
def different_faces() -> str:
    rolls = list(product(range(4), repeat=3))
    return str(Fraction(sum(len(set(roll)) for roll in rolls), len(rolls)))


@solves(59)
def fresco() -> str:
    day, worked = date(2024, 2, 14), 1
    assert day.isoweekday() == 3
    while worked < 40:
        day += timedelta(days=1)
        worked += day.isoweekday() <= 5
    return day.isoformat()


@solves(60)
def landing_time() -> str:
    start = datetime(2024, 5, 1, 22, 15)
    landing = start + timedelta(hours=11 - 9 - 5, minutes=50)
    return f"{landing:%H:%M}"


@solves(61)
def pond() -> str:
    def outer(width: Fraction) -> tuple[Fraction, Fraction]:
        return 12 + 2 * width, 7 + 2 * width

    sides = (outer(Fraction(cm, 100)) for cm in range(1, 2000))
    return str(only(2 * (a + b) for a, b in sides if a * b - 12 * 7 == 92))


@solves(62)
def thread_over_tiles() -> str:
    def side(row: int, column: int) -> int:
        return 30 * row - 18 * column

    tiles = product(range(18), range(30))
    return str(sum(side(r + 1, c) > 0 > side(r, c + 1) for r, c in tiles))


@solves(63)
def scalene_triangles() -> str:
    sides = combinations(range(1, 24), 3)
    return str(sum(sum(s) == 24 and s[0] + s[1] > s[2] for s in sides))


@solves(64)
def jury() -> str:
    people = ["Greta", "w2", "w3", "w4", "w5", "Hugo", "m2", "m3", "m4"]
    women = set(people[:5])
    juries = map(set, combinations(people, 4))
    return str(sum(len(j & women) >= 2 and not j >= {"Greta", "Hugo"} for j in juries))


@solves(65)
def kayaks() -> str:
    lines = set(permutations("KAYAKS"))
    return str(sum(all(a != b for a, b in pairwise(line)) for line in lines))


@solves(66)
def four_concerts() -> str:
    names = ("Alma", "Bruno", "Carla", "Dario")

    def harpists() -> Iterator[str]:
        for days, instruments in product(permutations(range(4)), permutations(range(4))):
            alma, bruno, carla, _ = days
            player = dict(zip(("cello", "drum", "harp", "oboe"), instruments, strict=True))
            day = {instrument: days[who] for instrument, who in player.items()}
            if (
                day["oboe"] == day["drum"] + 1
                and carla == 0
                and player["cello"] == 1
                and bruno > day["harp"]
                and alma == bruno - 1
                and player["oboe"] != 3
            ):
                yield names[player["harp"]]

    return only(harpists())


@solves(67)
def two_number_machine() -> str:
    first, second = 3, 5
    for _ in range(12):
        odd = first % 2
        first, second = (first + second, second - 1) if odd else (first // 2, second + 1)
    return str(first + second)


@solves(68)
def postman() -> str:
    def neighbours(a: int, b: int) -> bool:
        return (a - b) % 5 in (1, 4)

    # Any village will do as the first or the last: each has its road to the castle.
    tours = permutations(range(5))
    return str(sum(all(neighbours(a, b) for a, b in pairwise(tour)) for tour in tours))


@solves(69)
def gold_again() -> str:
    first = both = Fraction(0)
    for jar in ("gggs", "gss"):
        draws = list(permutations(jar, 2))
        weight = Fraction(1, 2 * len(draws))
        first += weight * sum(a == "g" for a, _ in draws)
        both += weight * draws.count(("g", "g"))
    return str(both / first)


@solves(70)
def pond_animals() -> str:
    primes = (2, 3, 5, 7, 11)
    herds = product(primes, repeat=3)
    return str(only(f for d, f, b in herds if d + f + b == 12 and 2 * d + 4 * f + 6 * b == 50))


@solves(71)
def bulbs() -> str:
    def kept(bulbs: Fraction) -> Fraction:
        for part, extra in ((3, 2), (4, 3), (2, 1)):
            bulbs -= bulbs / part + extra
        return bulbs

    return str(only(n for n in range(1000) if kept(Fraction(n)) == 5))


@solves(72)
def cloakroom() -> str:
    taken: list[int] = []
    for ticket in (25, 14, 36, 5, 47):
        taken.append(next(h for h in range(ticket % 11, 11) if h not in taken))
    return str(taken[-1])
