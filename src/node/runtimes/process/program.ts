import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import { type ContainerConfig, type Mount, RuntimeError } from '../../runtime/runtime.ts'
import type { CatalogueEntry } from './catalogue.ts'

/** The program of a container: a command on this machine, or a placeholder. */
export type Program = { kind: 'command'; command: readonly string[] } | { kind: 'placeholder' }

/** Finds the file of a program as the container sees it. Returns undefined if there is none. */
export type Find = (name: string) => string | undefined

/** Runs until it gets a stop signal, and then exits with 0. */
export const placeholderCommand = ['/bin/sh', '-c', 'trap "exit 0" TERM INT QUIT; sleep 2147483647 & wait']

/**
 * Chooses the program of a container. As with an image, the container's command and arguments replace those of the
 * image. If the catalogue does not have the image, arguments are used as a command if the first one names a program,
 * because many images have no entry point.
 */
export function programOf(
  config: Pick<ContainerConfig, 'command' | 'args'>,
  entry: CatalogueEntry | undefined,
  find: Find,
): Program {
  const { command, args } = config
  if (command.length > 0) return { kind: 'command', command: [...command, ...args] }
  if (entry?.command || entry?.args) {
    const whole = [...(entry.command ?? []), ...(args.length > 0 ? args : (entry.args ?? []))]
    if (whole.length > 0) return { kind: 'command', command: whole }
  }
  return args.length > 0 && find(args[0]!) !== undefined ? { kind: 'command', command: args } : { kind: 'placeholder' }
}

/** The path on this machine of a path in a container: below the nearest mount, or the same path. */
export function hostPathOf(containerPath: string, mounts: readonly Mount[]): string {
  const nearest = mounts
    .filter(
      (m) => containerPath === m.containerPath || containerPath.startsWith(`${m.containerPath.replace(/\/$/, '')}/`),
    )
    .sort((a, b) => b.containerPath.length - a.containerPath.length)[0]
  return nearest ? path.join(nearest.hostPath, path.relative(nearest.containerPath, containerPath)) : containerPath
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/**
 * Returns a function that finds programs as the container's shell does: by its PATH, from its working directory,
 * through its mounts. It returns paths on this machine.
 */
export function finder(searchPath: string, workingDir: string, mounts: readonly Mount[]): Find {
  return (name) => {
    const candidates = name.includes('/')
      ? [path.resolve(workingDir, name)]
      : searchPath.split(':').map((folder) => path.join(folder || '.', name))
    return candidates.map((file) => hostPathOf(file, mounts)).find(isProgram)
  }
}

/** The container runtimes' error for a missing program, with the likely reason. */
export function notFoundError(name: string): RuntimeError {
  const what = name.includes('/') ? `stat ${name}: no such file or directory` : 'executable file not found in $PATH'
  return new RuntimeError(
    'Unknown',
    `unable to start container process: exec: "${name}": ${what} (the process runtime runs programs of this machine, not of the image)`,
  )
}
