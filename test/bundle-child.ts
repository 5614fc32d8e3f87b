import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/**
 * Makes one script of a TypeScript file, to be run by a child process from anywhere. Returns its path. `replaced` names
 * files that stand in for packages.
 */
export async function bundleChild(entry: string, outDir: string, replaced: Readonly<Record<string, string>> = {}): Promise<string> {
  const outfile = join(outDir, Object.keys(replaced).length > 0 ? 'changed-child.mjs' : 'child.mjs')
  const require = createRequire(import.meta.url)
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    plugins: [{
      // The script lies outside the checkout, so what it does not contain must be named by its place.
      name: 'packages-by-place',
      setup: ({ onResolve }) => onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point' || path.startsWith('node:')) return undefined
        const standIn = replaced[path]
        if (standIn !== undefined && importer !== standIn) return { path: standIn }
        return { path: pathToFileURL(require.resolve(path)).href, external: true }
      }),
    }],
  })
  return outfile
}
