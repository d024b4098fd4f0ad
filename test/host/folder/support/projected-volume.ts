/** A folder whose files change all at once, in the steps in which Kubernetes changes a volume of ConfigMaps. */
import { mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface VolumeFile {
  readonly name: string
  readonly bytes: Uint8Array
}

const current = '..data'
let versions = 0

/** Makes these the files of the volume; `between` is called while links of files that went still stand. */
export async function projectVolume(
  path: string,
  files: readonly VolumeFile[],
  between: () => Promise<void> = async () => undefined,
): Promise<void> {
  versions += 1
  const version = `..version_${versions}`
  await mkdir(join(path, version), { recursive: true })
  for (const { name, bytes } of files) await writeFile(join(path, version, name), bytes)
  const before = await readlink(join(path, current)).catch(() => null)
  await symlink(version, join(path, '..data_tmp'))
  await rename(join(path, '..data_tmp'), join(path, current))
  await between()
  const links = (await readdir(path)).filter((name) => !name.startsWith('..'))
  const wanted = files.map(({ name }) => name)
  for (const name of wanted)
    if (!links.includes(name)) await symlink(join(current, name), join(path, name))
  for (const name of links) if (!wanted.includes(name)) await rm(join(path, name))
  if (before !== null) await rm(join(path, before), { recursive: true })
}
