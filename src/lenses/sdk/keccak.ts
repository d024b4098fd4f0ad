/** keccak256 as Ethereum uses it: the padding of the competition, not that of SHA-3. */

const RATE: usize = 136
const ROUNDS: i32 = 24

const state = memory.data(200)
const column = memory.data(40)
const moved = memory.data(200)

/** Constants of the rounds (FIPS 202, 3.2.5). */
const constants: StaticArray<u64> = [
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
  0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
  0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]

/** Writes the 32 bytes of the hash of `length` bytes to `target`. */
export function keccak256(from: usize, length: usize, target: usize): void {
  memory.fill(state, 0, 200)
  let at = from
  let left = length
  while (left >= RATE) {
    absorb(at, RATE)
    permute()
    at += RATE
    left -= RATE
  }
  absorb(at, left)
  store<u8>(state + left, load<u8>(state + left) ^ 0x01)
  store<u8>(state + RATE - 1, load<u8>(state + RATE - 1) ^ 0x80)
  permute()
  memory.copy(target, state, 32)
}

function absorb(from: usize, length: usize): void {
  for (let index: usize = 0; index < length; index++)
    store<u8>(state + index, load<u8>(state + index) ^ load<u8>(from + index))
}

function permute(): void {
  for (let round = 0; round < ROUNDS; round++) {
    theta()
    rhoAndPi()
    chi()
    store<u64>(state, load<u64>(state) ^ constants[round])
  }
}

function lane(base: usize, index: usize): u64 {
  return load<u64>(base + (index << 3))
}

function setLane(base: usize, index: usize, value: u64): void {
  store<u64>(base + (index << 3), value)
}

function theta(): void {
  for (let x: usize = 0; x < 5; x++) {
    let parity: u64 = 0
    for (let y: usize = 0; y < 25; y += 5) parity ^= lane(state, x + y)
    setLane(column, x, parity)
  }
  for (let x: usize = 0; x < 5; x++) {
    const change = lane(column, (x + 4) % 5) ^ rotl<u64>(lane(column, (x + 1) % 5), 1)
    for (let y: usize = 0; y < 25; y += 5) setLane(state, x + y, lane(state, x + y) ^ change)
  }
}

function rhoAndPi(): void {
  setLane(moved, 0, lane(state, 0))
  let x: usize = 1
  let y: usize = 0
  for (let step: u64 = 0; step < 24; step++) {
    const turn = (((step + 1) * (step + 2)) >> 1) & 63
    const toX = y
    const toY = (x + x + y + y + y) % 5
    setLane(moved, toX + 5 * toY, rotl<u64>(lane(state, x + 5 * y), turn))
    x = toX
    y = toY
  }
}

function chi(): void {
  for (let y: usize = 0; y < 25; y += 5)
    for (let x: usize = 0; x < 5; x++) {
      const value = ~lane(moved, y + ((x + 1) % 5)) & lane(moved, y + ((x + 2) % 5))
      setLane(state, y + x, lane(moved, y + x) ^ value)
    }
}
