/**
 * Builds the images of another version, with its own `images/build`: `next`, which differs from this
 * checkout as one release may from the one before, or those of a commit, which is then their tag.
 *
 *     npx node test/e2e/cluster/upgrade/build-images.ts next|COMMIT [OPTION of images/build...]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeVersion } from '../support/other-version.ts'

const [version = 'next', ...options] = process.argv.slice(2)
const folder = await writeVersion(version)
try {
  const args = ['--tag', version, ...options]
  const build = spawn(join(folder, 'images/build'), args, { stdio: 'inherit' })
  const [code] = await once(build, 'exit')
  process.exitCode = code ?? 1
} finally {
  rmSync(folder, { recursive: true })
}
