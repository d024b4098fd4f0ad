/**
 * Images built by `images/build` with buildah, their configuration and files, for tests that look into
 * them. VIEWMESH_TEST_BASE names an image with Node 24 and npm where the public one cannot be had.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repository } from '../../support/repository.ts'

const run = promisify(execFile)

/** What images are built on. */
export const testBase: string = process.env['VIEWMESH_TEST_BASE'] ?? 'node:24-slim'

/** Driver of buildah's storage; vfs works wherever it runs, also inside a container. */
export const storageDriver: string = process.env['BUILDAH_STORAGE_DRIVER'] ?? 'vfs'

interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[] | null
  readonly WorkingDir: string
  readonly Labels: Readonly<Record<string, string>>
  readonly ExposedPorts: Readonly<Record<string, object>>
  readonly Healthcheck?: { readonly Test: readonly string[] }
}

export interface Image {
  readonly architecture: string
  readonly config: ImageConfig
  /** Digests of the uncompressed layers, those of the base first. */
  readonly layers: readonly string[]
}

/** Runs `images/build`; gives the names of what it built. */
export async function buildImages(...args: readonly string[]): Promise<string[]> {
  const env = { ...process.env, BUILDAH_STORAGE_DRIVER: storageDriver }
  const { stdout } = await run(`${repository}/images/build`, [...args], {
    env,
    maxBuffer: 16_777_216,
  })
  return stdout.trim().split('\n')
}

/** Runs buildah and gives what it prints. */
export async function buildah(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('buildah', ['--storage-driver', storageDriver, ...args], {
    maxBuffer: 67_108_864,
  })
  return stdout.trim()
}

/** The image as the registries' formats describe it. */
export async function inspectImage(name: string): Promise<Image> {
  const { Docker, OCIv1 } = JSON.parse(await buildah('inspect', '--type', 'image', name))
  const { architecture, rootfs } = OCIv1
  return { architecture, config: Docker.config, layers: rootfs.diff_ids }
}

/** Makes a container of an image, hands over its name and the path of its files, and removes it. */
export async function withContainer<T>(
  image: string,
  use: (container: string, root: string) => Promise<T>,
): Promise<T> {
  const container = await buildah('from', '--pull-never', image)
  try {
    return await use(container, await buildah('mount', container))
  } finally {
    await buildah('rm', container)
  }
}
