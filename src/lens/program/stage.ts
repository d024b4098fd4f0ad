/** A lens between its source of documents and whoever asks it for the next one. */

import type { Feed } from '../../views/rows/row-type.ts'
import type { LensInstance, LensOutput, SourceDocument } from './instance.ts'
import { abiError, lensError } from './lens-error.ts'
import type { RunLimits } from './run-limits.ts'

/** Returns the next document, null at the end; bytes hold until it is called again. */
export type DocumentSource = () => SourceDocument | null

interface StageOptions {
  /** Its place in the View, 1 being the first. */
  readonly place: number
  readonly feed: Feed
  readonly limits: RunLimits
}

/** The documents that a lens makes of those of its source; nil is left out. */
export function createStage(
  options: StageOptions,
  instance: LensInstance,
  source: DocumentSource,
): DocumentSource {
  const count = createOutputCount(options)
  const counted: DocumentSource = () => {
    const document = source()
    if (document !== null) count.given()
    return document
  }
  const transform = (next: () => number): LensOutput => {
    const output = instance.transform(next)
    if (output !== 'end') count.returned(output === 'nil' ? 0 : output.length)
    return output
  }
  return options.feed === 'stream'
    ? streamed(instance, transform, counted)
    : fedSingly(options.place, instance, transform, counted)
}

type Transform = (next: () => number) => LensOutput

function streamed(
  instance: LensInstance,
  transform: Transform,
  source: DocumentSource,
): DocumentSource {
  const next = (): number => {
    const document = source()
    return document === null ? instance.writeEnd() : instance.write(document)
  }
  let isOver = false
  return () => {
    while (!isOver) {
      const output = transform(next)
      if (output === 'end') isOver = true
      else if (output !== 'nil') return output
    }
    return null
  }
}

function fedSingly(
  place: number,
  instance: LensInstance,
  transform: Transform,
  source: DocumentSource,
): DocumentSource {
  /** The document that the lens has not taken yet. */
  let waiting: SourceDocument | null = null
  /** Whether the lens has not come to the end after the last document. */
  let isWithin = false
  const next = (): number => {
    const document = waiting
    waiting = null
    return document === null ? instance.writeEnd() : instance.write(document)
  }
  const begin = (): boolean => {
    waiting = source()
    isWithin = waiting !== null
    return isWithin
  }
  return () => {
    while (isWithin || begin()) {
      const output = transform(next)
      if (output === 'end') isWithin = false
      if (output === 'end' && waiting !== null)
        throw abiError(
          place,
          'comes to the end of the stream without taking the document it is given; write "feed: stream" in the description of the type',
        )
      if (output !== 'end' && output !== 'nil') return output
    }
    return null
  }
}

interface OutputCount {
  given(): void
  returned(bytes: number): void
}

/** Counts what a lens returns in a run. */
function createOutputCount({ place, limits }: StageOptions): OutputCount {
  let left = limits.items
  let bytesLeft = limits.outputBytes
  const tooMuch = (what: string): Error =>
    lensError(
      'LENS_OUTPUT_LIMIT',
      place,
      `returns more than ${what}`,
      'Let the lens return less, or select fewer documents in the query.',
    )
  return {
    given() {
      left += 1
    },
    returned(bytes) {
      left -= 1
      bytesLeft -= bytes
      if (left < 0) throw tooMuch(`${limits.items} items beside one for each document`)
      if (bytesLeft < 0) throw tooMuch(`${limits.outputBytes} bytes`)
    },
  }
}
