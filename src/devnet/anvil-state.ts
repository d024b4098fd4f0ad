/**
 * The file in which anvil keeps its chain. anvil makes a new block 0 at every start and writes it
 * beside the loaded ones, and after two starts it may take the wrong one for the chain's own: so
 * all but the first are taken out before a start. It also writes the file in place, so that one
 * that was cut short has to be expected.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from './replace-file.ts'

interface StateBlock {
  readonly header: { readonly number: string; readonly timestamp: string }
}

/** The state file of a chain that is kept in `directory`. */
export function anvilState(directory: string): string {
  return join(directory, 'state.json')
}

/** Prepares the kept chain for the next start; false where there is none that can go on. */
export function prepareState(directory: string): boolean {
  const path = anvilState(directory)
  const state = readState(path)
  if (state === null) return false
  const { blocks } = state
  const genesis = blocks.filter(isGenesis).toSorted((a, b) => timeOf(a) - timeOf(b))[0]
  if (genesis === undefined) return false
  const kept = blocks.filter((block) => block === genesis || !isGenesis(block))
  if (kept.length < blocks.length) {
    replaceFile(path, JSON.stringify({ ...state, blocks: kept }))
  }
  return true
}

function readState(path: string): { readonly blocks: readonly StateBlock[] } | null {
  try {
    const state: { readonly blocks?: unknown } | null = JSON.parse(readFileSync(path, 'utf8'))
    return Array.isArray(state?.blocks) ? { ...state, blocks: state.blocks } : null
  } catch {
    return null
  }
}

function isGenesis(block: StateBlock): boolean {
  return Number(block.header.number) === 0
}

function timeOf(block: StateBlock): number {
  return Number(block.header.timestamp)
}
