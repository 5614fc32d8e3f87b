import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Makes one script of a TypeScript file, to be run by a child process from anywhere. Returns its path. */
export async function bundleChild(entry: string, outDir: string): Promise<string> {
  const outfile = join(outDir, 'child.mjs')
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
      setup: ({ onResolve }) => onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind === 'entry-point' || path.startsWith('node:')) return undefined
        return { path: pathToFileURL(require.resolve(path)).href, external: true }
      }),
    }],
  })
  return outfile
}
