/**
 * Compiles src/devnet/token.sol. Run as a program it rewrites token.json:
 * `npx node test/devnet/compile-token.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import solc from 'solc'

interface CompiledContract {
  readonly abi: readonly unknown[]
  readonly evm: { readonly bytecode: { readonly object: string } }
}

interface CompilerOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts?: { readonly 'token.sol': Readonly<Record<string, CompiledContract>> }
}

const source = new URL('../../src/devnet/token.sol', import.meta.url)
export const artefact: URL = new URL('../../src/devnet/token.json', import.meta.url)

/** The text of token.json as it follows from the Solidity source; no metadata, so it is stable. */
export function compileToken(): string {
  const input = {
    language: 'Solidity',
    sources: { 'token.sol': { content: readFileSync(source, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'shanghai',
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input)))
  if (output.contracts === undefined || output.errors !== undefined) {
    throw new Error((output.errors ?? []).map((error) => error.formattedMessage).join('\n'))
  }
  const contracts = Object.entries(output.contracts['token.sol']).map(
    ([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }] as const,
  )
  return `${JSON.stringify(Object.fromEntries(contracts.toReversed()), null, 2)}\n`
}

if (import.meta.main) writeFileSync(artefact, compileToken())
