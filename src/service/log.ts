/**
 * The log of a program or thread: readable lines where stdout is a terminal, one JSON object a
 * line in a pipe. Every thread writes to file descriptor 1 itself, so that no line waits for
 * another thread. Secrets are redacted by field name and by value.
 */
import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { type PlainError, toPlainError } from '../plain-error.ts'
import type { LogLevel } from './log-level.ts'

export interface LogOptions {
  /** Program or thread, in every line. */
  readonly name: string
  readonly level: LogLevel
  /** Values that must never appear in a line; those under 8 characters are only redacted by field name. */
  readonly secrets?: readonly string[]
  /** Default: whether stdout is a terminal. */
  readonly pretty?: boolean
}

const hidden = '[redacted]'
const minSecretLength = 8
const secretFields = [
  'secret',
  'keyringSecret',
  'privateKey',
  'seed',
  'password',
  'apiKey',
  'apiKeys',
  'token',
  'authToken',
  'adminToken',
  'authorization',
  'Authorization',
  '["x-api-key"]',
  '["X-Api-Key"]',
]

/** Opens the log of this thread. `destination` is for tests; the default is standard output. */
export function openLog(options: LogOptions, destination?: DestinationStream): Logger {
  const pretty = options.pretty ?? isatty(1)
  const settings: LoggerOptions = {
    level: options.level,
    base: { name: options.name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: serializeError, error: serializeError },
    redact: { paths: secretFields.flatMap(atThreeDepths), censor: hidden },
    hooks: { streamWrite: withoutSecrets(options.secrets ?? []) },
  }
  return pino(settings, pretty ? prettyStream(destination) : (destination ?? standardOutput()))
}

function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: true })
}

/** pino-pretty is loaded only for terminals, so that containers do not pay for it. */
function prettyStream(destination: DestinationStream | undefined): DestinationStream {
  const load = createRequire(import.meta.url)
  const { prettyFactory } = load('pino-pretty') as typeof import('pino-pretty')
  const format = prettyFactory({
    colorize: destination === undefined,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'name',
    messageFormat: '{name}: {msg}',
    singleLine: true,
  })
  const out = destination ?? standardOutput()
  return { write: (line) => out.write(format(line)) }
}

function atThreeDepths(field: string): string[] {
  return [field, `*.${field}`, `*.*.${field}`]
}

function withoutSecrets(secrets: readonly string[]): (line: string) => string {
  const found = secrets
    .filter((secret) => secret.length >= minSecretLength)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  return (line) => found.reduce((text, secret) => text.replaceAll(secret, hidden), line)
}

/** Drops the stacks of failures with a remedy; the others keep them. */
function serializeError(error: unknown): PlainError {
  const plain = toPlainError(error)
  return plain.remedy === undefined ? plain : withoutStacks(plain)
}

function withoutStacks({ stack: _, cause, ...rest }: PlainError): PlainError {
  return cause === undefined ? rest : { ...rest, cause: withoutStacks(cause) }
}
