/**
 * What the images' health check runs: asks the program in this container, without a shell or curl.
 * `node health-check.js <variable with the address> <port without it> <path>`
 */
import process from 'node:process'

const [variable = '', port = '', path = ''] = process.argv.slice(2)
const listening = /:(\d+)$/.exec(process.env[variable] ?? '')
const url = `http://127.0.0.1:${listening === null ? port : listening[1]}${path}`

try {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(4_000) })
  process.exitCode = status === 200 ? 0 : 1
} catch {
  process.exitCode = 1
}
