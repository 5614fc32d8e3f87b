import { realpathSync } from 'node:fs'
import path from 'node:path'

/** Directories of the control plane and the node, which no volume may show. */
export interface PrivatePaths {
  directories: readonly string[]
  /** Directories in them that hold the contents of persistent volumes, which claims may show. */
  volumes: readonly string[]
}

export const nothingPrivate: PrivatePaths = { directories: [], volumes: [] }

/**
 * Why a path of this machine must not be mounted; undefined where it may. `askedBy` is a pod's own hostPath, or a
 * persistent volume.
 */
export function problemOfPath(
  { directories, volumes }: PrivatePaths,
  at: string,
  askedBy: 'pod' | 'volume',
): string | undefined {
  if (directories.length === 0) return undefined
  const real = realPathOf(path.resolve(at))
  const isIn = (directory: string) => isInside(real, realPathOf(directory))
  if (!directories.some(isIn)) return undefined
  if (askedBy === 'volume' && volumes.some((directory) => isIn(directory) && real !== realPathOf(directory)))
    return undefined
  return `hostPath ${JSON.stringify(at)} is in a directory of the control plane, which pods may not mount`
}

const isInside = (at: string, directory: string): boolean =>
  at === directory || at.startsWith(`${directory}${path.sep}`)

/** The real path of what there is of a path, with the rest as it stands. */
function realPathOf(at: string): string {
  try {
    return realpathSync(at)
  } catch {
    // It is not there yet: what it will be made in may be.
    const parent = path.dirname(at)
    return parent === at ? at : path.join(realPathOf(parent), path.basename(at))
  }
}
