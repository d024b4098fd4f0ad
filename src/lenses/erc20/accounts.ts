/**
 * Accounts and what they hold, in the order in which they were seen first. They are found by a crit-bit tree: whoever
 * sends tokens to addresses of his choice can make no lookup longer than 160 steps, as he could with a table of hashes.
 */

/** Bytes of an account: 20 of its address, 4 unused, 40 of its sum, 8 of its transfers. */
const ACCOUNT: usize = 72
const SUM: usize = 24
const TRANSFERS: usize = 64
/** Bytes of a fork: the bit that decides, and where it leads for 0 and for 1. */
const FORK: usize = 12
/** Bits of an address. */
const BITS: u32 = 160
/** Marks a fork among the places that accounts have. */
const IS_FORK: u32 = 0x80000000

/** How many there may be: 17 MB of memory. */
export const MOST_ACCOUNTS: u32 = 200_000

export let accountCount: u32 = 0
let capacity: u32 = 64
let accounts: usize = heap.alloc(64 * ACCOUNT)
let forks: usize = heap.alloc(64 * FORK)
let root: u32 = 0

/** Address of the 20 bytes of an account by its place. */
export function accountAt(place: u32): usize {
  return accounts + (place as usize) * ACCOUNT
}

/** Its sum: five parts of 64 bits in two's complement, the lowest first. */
export function sumOf(account: usize): usize {
  return account + SUM
}

export function transfersOf(account: usize): u64 {
  return load<u64>(account, TRANSFERS)
}

/** Counts a transfer of the account with this address; 0 where there are too many accounts. */
export function countTransfer(address: usize): usize {
  const account = findOrAdd(address)
  if (account !== 0) store<u64>(account, transfersOf(account) + 1, TRANSFERS)
  return account
}

/** Adds a number of 256 bits, big-endian, to the sum of an account. */
export function receive(account: usize, amount: usize): void {
  const sum = account + SUM
  let carry: u64 = 0
  for (let index: usize = 0; index < 32; index += 4) {
    const part = bswap<u32>(load<u32>(amount + 28 - index)) as u64
    carry += (load<u32>(sum + index) as u64) + part
    store<u32>(sum + index, carry as u32)
    carry >>= 32
  }
  store<u64>(sum, load<u64>(sum, 32) + carry, 32)
}

/** Takes such a number from it. */
export function send(account: usize, amount: usize): void {
  const sum = account + SUM
  let borrow: u64 = 0
  for (let index: usize = 0; index < 32; index += 4) {
    const part = bswap<u32>(load<u32>(amount + 28 - index)) as u64
    const left = (load<u32>(sum + index) as u64) - part - borrow
    store<u32>(sum + index, left as u32)
    borrow = left >> 63
  }
  store<u64>(sum, load<u64>(sum, 32) - borrow, 32)
}

function findOrAdd(address: usize): usize {
  if (accountCount === 0) return add(address)
  const nearest = accountAt(nearestTo(address))
  const bit = firstDifference(nearest, address)
  if (bit === BITS) return nearest
  if (accountCount === MOST_ACCOUNTS) return 0
  const added = add(address)
  fork(address, bit)
  return added
}

/** The place of the account that an address leads to. */
function nearestTo(address: usize): u32 {
  const link = linkTo(address, BITS)
  return link === 0 ? root : load<u32>(link)
}

/** Puts the newest account where its address differs first from all others. */
function fork(address: usize, bit: u32): void {
  const added = accountCount - 1
  const place = (added - 1) | IS_FORK
  const at = forkAt(place)
  const side = bitOf(address, bit) << 2
  const above = linkTo(address, bit)
  store<u32>(at, bit)
  store<u32>(at + 4 + side, added)
  store<u32>(at + 4 + (4 - side), above === 0 ? root : load<u32>(above))
  if (above === 0) root = place
  else store<u32>(above, place)
}

/** Where the link stands that leads to the first fork for `end` or a bit behind it; 0 for the root. */
function linkTo(address: usize, end: u32): usize {
  let link: usize = 0
  let place = root
  while ((place & IS_FORK) !== 0) {
    const at = forkAt(place)
    const bit = load<u32>(at)
    if (bit >= end) break
    link = at + 4 + (bitOf(address, bit) << 2)
    place = load<u32>(link)
  }
  return link
}

function forkAt(place: u32): usize {
  return forks + ((place & ~IS_FORK) as usize) * FORK
}

function bitOf(address: usize, bit: u32): usize {
  return ((load<u8>(address + (bit >> 3)) >> (7 - (bit & 7))) & 1) as usize
}

/** The first bit in which two addresses differ; 160 where they are the same. */
function firstDifference(one: usize, other: usize): u32 {
  for (let index: u32 = 0; index < 20; index++) {
    const difference = load<u8>(one + index) ^ load<u8>(other + index)
    if (difference !== 0) return (index << 3) + (clz<u32>(difference as u32) - 24)
  }
  return BITS
}

function add(address: usize): usize {
  if (accountCount === capacity) {
    capacity <<= 1
    accounts = heap.realloc(accounts, (capacity as usize) * ACCOUNT)
    forks = heap.realloc(forks, (capacity as usize) * FORK)
  }
  const account = accountAt(accountCount)
  memory.fill(account, 0, ACCOUNT)
  memory.copy(account, address, 20)
  accountCount++
  return account
}
