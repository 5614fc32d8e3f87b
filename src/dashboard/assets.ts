import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

/** A file of the page with its headers. */
export interface Asset {
  type: string
  bytes: Buffer
  zipped: Buffer | undefined
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Directory of the built page: beside the bundled program, or in dist when run from sources. */
const folder = (): string | undefined =>
  [path.join(import.meta.dirname, 'web'), path.resolve(import.meta.dirname, '../../dist/web')].find((place) =>
    existsSync(place),
  )

/** Reads all files of the page once, so that a running program does not depend on dist. */
export function loadAssets(from = folder()): ReadonlyMap<string, Asset> {
  if (!from) return new Map()
  const names = readdirSync(from).filter((name) => path.extname(name) in types)
  return new Map(
    names.map((name): [string, Asset] => {
      const bytes = readFileSync(path.join(from, name))
      return [
        name,
        { type: types[path.extname(name)]!, bytes, zipped: bytes.length > 1024 ? gzipSync(bytes) : undefined },
      ]
    }),
  )
}
