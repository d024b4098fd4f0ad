/** The process of a pod's program, where the pod runs on this machine and the test may signal it. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

export interface PodProcess {
  /** It hangs: connections stay open and nothing is answered, until `resume`. */
  hang(): void
  resume(): void
}

/** The oldest process of this program in a pod; null where it cannot be seen here. */
export function podProcess(podName: string, program: string): PodProcess | null {
  const [pid] = processes().filter(
    (one) =>
      basename(texts(one, 'cmdline')[0] ?? '') === program &&
      texts(one, 'environ').includes(`HOSTNAME=${podName}`),
  )
  if (pid === undefined) return null
  return {
    hang: () => void process.kill(pid, 'SIGSTOP'),
    resume: () => void process.kill(pid, 'SIGCONT'),
  }
}

function processes(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .toSorted((a, b) => a - b)
}

/** None of one that ended, or that belongs to somebody else. */
function texts(pid: number, file: 'cmdline' | 'environ'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
  } catch {
    return []
  }
}
