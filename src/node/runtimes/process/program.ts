import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import { type ContainerConfig, type Mount, RuntimeError } from '../../runtime/runtime.ts'
import type { CatalogueEntry } from './catalogue.ts'

/** What a container runs: a program of this machine, or nothing but a placeholder. */
export type Program = { kind: 'command'; command: readonly string[] } | { kind: 'placeholder' }

/** Finds the file behind a program's name as the container sees it; undefined where there is none. */
export type Find = (name: string) => string | undefined

/** Holds a container open, and ends well when it is asked to. */
export const placeholderCommand = ['/bin/sh', '-c', 'trap "exit 0" TERM INT QUIT; sleep 2147483647 & wait']

/**
 * Decides what a container runs. As with an image, its command goes before the image's, its arguments before the
 * image's. Of an image that the catalogue does not know, arguments are taken for a command where they name a program:
 * many images have none of their own.
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

/** Where on this machine a path of a container is: below the mount that is nearest to it, or where it says. */
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
 * Looks for programs as the container's shell would: by its PATH, from its working directory, through its mounts.
 * Answers the path on this machine.
 */
export function finder(searchPath: string, workingDir: string, mounts: readonly Mount[]): Find {
  return (name) => {
    const candidates = name.includes('/')
      ? [path.resolve(workingDir, name)]
      : searchPath.split(':').map((folder) => path.join(folder || '.', name))
    return candidates.map((file) => hostPathOf(file, mounts)).find(isProgram)
  }
}

/** What container runtimes say of a program that is not there, and why that is likely here. */
export function notFoundError(name: string): RuntimeError {
  const what = name.includes('/') ? `stat ${name}: no such file or directory` : 'executable file not found in $PATH'
  return new RuntimeError(
    'Unknown',
    `unable to start container process: exec: "${name}": ${what} (the process runtime runs programs of this machine, not of the image)`,
  )
}
