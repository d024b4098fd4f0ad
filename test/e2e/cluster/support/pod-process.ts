/** The process of a pod's program, where the pod runs on this machine and the test may signal it. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

export interface PodProcess {
  /** It hangs: connections stay open and nothing is answered, until `resume`. */
  hang(): void
  resume(): void
}

/**
 * The oldest process of this program in the pod of a UID; null where it cannot be seen here. Pods of several
 * namespaces share a name, so they are distinguished by what kubelet mounts into each of them.
 */
export function podProcess(podUid: string, program: string): PodProcess | null {
  const [pid] = processes().filter(
    (one) =>
      basename(textOf(one, 'cmdline').split('\0')[0] ?? '') === program &&
      textOf(one, 'mountinfo').includes(`/${podUid}/etc-hosts /etc/hosts `),
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

/** Empty of one that ended, or that belongs to somebody else. */
function textOf(pid: number, file: 'cmdline' | 'mountinfo'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
