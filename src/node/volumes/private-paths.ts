import { realpathSync } from 'node:fs'
import path from 'node:path'

/** Directories of the control plane and the node, which volumes must not expose. */
export interface PrivatePaths {
  directories: readonly string[]
  /** Directories in them with the contents of persistent volumes, which claims may mount. */
  volumes: readonly string[]
}

export const nothingPrivate: PrivatePaths = { directories: [], volumes: [] }

/**
 * Returns the reason why a path of this machine must not be mounted, or undefined. `askedBy` is a pod's own hostPath or
 * a persistent volume.
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

/** The real path of the existing part of a path, followed by the rest. */
function realPathOf(at: string): string {
  try {
    return realpathSync(at)
  } catch {
    // The path does not exist yet. Its parent may.
    const parent = path.dirname(at)
    return parent === at ? at : path.join(realPathOf(parent), path.basename(at))
  }
}
