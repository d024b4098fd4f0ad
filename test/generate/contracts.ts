/** The contracts of the development chains: their JSON as the compiler makes it of their sources. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import solc from 'solc'
import { root } from '../support/source-files.ts'

interface CompiledContract {
  readonly abi: readonly unknown[]
  readonly evm: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

interface CompilerOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>
}

/** Text of the files by their paths in the repository. */
export function contractFiles(): ReadonlyMap<string, string> {
  const token = Object.entries(compile('src/devnet/token.sol')).map(
    ([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }] as const,
  )
  const registry = Object.values(compile('src/devnet/registry/registry.sol')).map(
    ({ abi, evm }) => ({ abi, code: `0x${evm.deployedBytecode.object}` }),
  )
  return new Map([
    ['src/devnet/token.json', json(Object.fromEntries(token.toReversed()))],
    ['src/devnet/registry/contract.json', json(registry[0])],
  ])
}

/** No metadata, so that the text is stable. */
function compile(path: string): Readonly<Record<string, CompiledContract>> {
  const file = basename(path)
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(join(root, path), 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'shanghai',
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  }
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input)))
  if (output.contracts === undefined || output.errors !== undefined) {
    throw new Error((output.errors ?? []).map((error) => error.formattedMessage).join('\n'))
  }
  return output.contracts[file] ?? {}
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
