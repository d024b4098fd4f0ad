/** The ERC-20 of the development chain: `src/devnet/token.json` as the compiler makes it of `token.sol`. */
import { readFileSync } from 'node:fs'
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

/** Text of the file by its path in the repository. */
export function tokenFiles(): ReadonlyMap<string, string> {
  return new Map([['src/devnet/token.json', compileToken()]])
}

/** No metadata, so that the text is stable. */
function compileToken(): string {
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
