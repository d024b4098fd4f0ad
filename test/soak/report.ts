/** What a soak has found, as text. */
import { allowedGrowthBytes, type MemoryVerdict, warmUpMs } from './memory.ts'
import type { Found } from './soak.ts'

/** The figures, then what was wrong, if anything. */
export function reportText(found: Found): string {
  const { chain, watchers, failures, memory, compared, faults, settleMs } = found
  const answers = watchers.reduce((sum, each) => sum + each.answers, 0)
  const slowest = Math.max(...watchers.map(({ slowestMs }) => slowestMs))
  const shown = [...failures].map(([code, seconds]) => `${code} ${seconds}`)
  return [
    `node: ${chain.blocks} blocks, ${chain.transactions} transactions`,
    `Hosts: ${answers} answers looked at, the slowest took ${Math.round(slowest)} ms`,
    `failures shown on the way, in seconds of a program: ${shown.join(', ') || 'none'}`,
    `all had followed ${(settleMs / 1e3).toFixed(1)} s after the last block`,
    `compared: ${compared.blocks} blocks, ${compared.documents} documents, in five stores`,
    `memory, ${warmUpMs / 1e3} s after a start and at the end (it may grow by ${megabytes(allowedGrowthBytes)}):`,
    ...memory.map(memoryLine),
    faults.length === 0 ? 'all is well' : `${faults.length} faults:`,
    ...faults.map((fault) => `  ${fault}`),
  ].join('\n')
}

function memoryLine({ name, life, forMs, warmBytes, endBytes, isFlat }: MemoryVerdict): string {
  const time = `${Math.round(forMs / 1e3)} s`
  const verdict = isFlat ? 'flat' : 'NOT FLAT'
  return `  ${name}, life ${life} of ${time}: ${megabytes(warmBytes)}, ${megabytes(endBytes)}, ${verdict}`
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}
