/** Images that the cluster of the tests has: those of `images/build`, loaded as README says. */

const prefix = process.env['VIEWMESH_TEST_IMAGES'] ?? 'localhost/viewmesh-'
const tag = process.env['VIEWMESH_TEST_TAG'] ?? 'dev'

/** Whole reference of a program's image. */
export function clusterImage(program: 'generator' | 'host' | 'operator' | 'anvil'): string {
  return `${prefix}${program}:${tag}`
}
