/**
 * Whether a data file has all pages that it names. LMDB reads a file through a map of the memory: where its end was cut off, as
 * a copy is that was interrupted, the first access to what is missing kills the process silently.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { pageBytes, pageHeaderBytes } from './layout.ts'

/** The two pages in front, of which the one with the newer transaction counts. */
const metaPages = 2
/** Behind the header of such a page: the free and the main database, the last page, the transaction. */
const meta = { databases: 24, lastPage: 120, transaction: 128 } as const
/** What LMDB keeps of a database. */
const database = { bytes: 48, depth: 6, root: 40 } as const
const noRoot = 2n ** 64n - 1n
/** Of a page: where its list of nodes ends. */
const lowerOffset = 20
/** Of a node: the page below it in 48 bits, or the size of its value and its flags; the length of its key; the key. */
const node = { bytes: 8, flags: 4, keyBytes: 6 } as const
/** Flags of a node of a leaf: its value lies on pages of its own; it is a named database. */
const nodeFlags = { ownPages: 1, database: 2 } as const
/** What such a node has in place of its value. */
const ownPages = { first: 0, count: 16 } as const

interface DataFile {
  readonly handle: number
  /** Whole pages. */
  readonly pages: number
}

/** A file that ends too early. */
export interface Shortage {
  readonly bytes: number
  readonly needed: number
}

/** Null for a whole file. It begins as LMDB's. @throws what reading a file throws */
export function readShortage(path: string): Shortage | null {
  const handle = openSync(path, 'r')
  try {
    const bytes = fstatSync(handle).size
    const file = { handle, pages: Math.floor(bytes / pageBytes) }
    if (file.pages < metaPages) return { bytes, needed: metaPages * pageBytes }
    const newest = newestMeta(file)
    const pages = Number(newest.readBigUInt64LE(meta.lastPage)) + 1
    // Pages at the end that were used and freed within one transaction need not be there.
    const isWhole = file.pages >= pages || !isCut(file, newest)
    return isWhole ? null : { bytes, needed: pages * pageBytes }
  } finally {
    closeSync(handle)
  }
}

function newestMeta(file: DataFile): Buffer {
  const first = readPage(file, 0).subarray(pageHeaderBytes)
  const second = readPage(file, 1).subarray(pageHeaderBytes)
  return transactionOf(second) > transactionOf(first) ? second : first
}

function transactionOf(page: Buffer): bigint {
  return page.readBigUInt64LE(meta.transaction)
}

/** Whether a page that a tree names lies behind the end; of what is no tree of LMDB's, that something is missing. */
function isCut(file: DataFile, newest: Buffer): boolean {
  try {
    return [0, 1].some((index) =>
      isTreeCut(file, newest.subarray(meta.databases + index * database.bytes)),
    )
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}

function isTreeCut(file: DataFile, tree: Buffer): boolean {
  const root = tree.readBigUInt64LE(database.root)
  return root !== noRoot && isBelowCut(file, Number(root), tree.readUInt16LE(database.depth))
}

function isBelowCut(file: DataFile, page: number, depth: number): boolean {
  if (page >= file.pages) return true
  const nodes = nodesOf(readPage(file, page))
  return depth > 1
    ? nodes.some((each) => isBelowCut(file, each.readUIntLE(0, 6), depth - 1))
    : nodes.some((each) => isValueCut(file, each))
}

function isValueCut(file: DataFile, each: Buffer): boolean {
  const flags = each.readUInt16LE(node.flags)
  const value = each.subarray(node.bytes + each.readUInt16LE(node.keyBytes))
  if ((flags & nodeFlags.database) !== 0) return isTreeCut(file, value)
  if ((flags & nodeFlags.ownPages) === 0) return false
  const first = Number(value.readBigUInt64LE(ownPages.first))
  return first + Number(value.readBigUInt64LE(ownPages.count)) > file.pages
}

/** Both the end of the list and the places of nodes count from behind the header. */
function nodesOf(page: Buffer): Buffer[] {
  const count = page.readUInt16LE(lowerOffset) >> 1
  return Array.from({ length: count }, (_, index) =>
    page.subarray(pageHeaderBytes + page.readUInt16LE(pageHeaderBytes + 2 * index)),
  )
}

function readPage({ handle }: DataFile, page: number): Buffer {
  const bytes = Buffer.alloc(pageBytes)
  readSync(handle, bytes, 0, pageBytes, page * pageBytes)
  return bytes
}
