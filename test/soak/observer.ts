/** Looks at all programs every second: what `/health` complains of, how far behind they are, what memory they take. */
import { pause } from '../support/programs.ts'
import { type Fleet, healthOf, type Member } from './fleet.ts'
import type { MemorySample } from './memory.ts'

interface Observer {
  readonly samples: readonly MemorySample[]
  /** Seconds in which each failure was shown by any program, by its code. */
  readonly failures: ReadonlyMap<string, number>
  /** What was wrong: programs that ended without being told to, and that did not answer. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

const everyMs = 1_000

/** Looks until it is stopped. */
export function observeFleet(fleet: Fleet): Observer {
  const samples: MemorySample[] = []
  const failures = new Map<string, number>()
  const faults: string[] = []
  const ended = new Set<string>()
  let isOver = false

  const noteEnd = ({ name, program }: Member): boolean => {
    const end = program.ownEnd()
    if (end !== null && !ended.has(name)) faults.push(`${name} ${end}`)
    if (end !== null) ended.add(name)
    return end !== null
  }
  const ask = async (member: Member, life: number): Promise<void> => {
    const { name, program } = member
    samples.push({ name, life, atMs: performance.now(), ownBytes: program.memory().ownBytes })
    const { errors } = await healthOf(member)
    for (const { code } of errors) failures.set(code, (failures.get(code) ?? 0) + 1)
  }
  const look = async (member: Member): Promise<void> => {
    const life = member.life()
    if (noteEnd(member) || life === 0) return
    try {
      await ask(member, life)
    } catch (error) {
      // One that is killed meanwhile cannot answer; any other has to.
      if (member.life() === life && !noteEnd(member))
        faults.push(`${member.name} does not answer /health: ${String(error)}`)
    }
  }
  const looking = (async () => {
    while (!isOver) {
      await Promise.all(fleet.members.map(look))
      await pause(everyMs)
    }
  })()
  return {
    samples,
    failures,
    faults,
    async stop() {
      isOver = true
      await looking
    },
  }
}
