import { accessSync, constants } from 'node:fs'
import path from 'node:path'

const usualPlaces = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The search path of a container without PATH. */
export const defaultSearchPath = [
  ...new Set([...(process.env['PATH']?.split(':') ?? []).filter((p) => p.startsWith('/')), ...usualPlaces]),
].join(':')

/** The path of a program of this machine. */
export function findTool(name: string): string | undefined {
  return defaultSearchPath
    .split(':')
    .map((folder) => path.join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Quotes a word for a shell. */
export const shellWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
