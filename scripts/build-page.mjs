// Bundles the dashboard's page: scripts and styles in files named by their content, and the HTML that refers to them.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

/** Builds the page in `from` into `outdir`. */
export async function buildPage(from, outdir) {
  const { metafile } = await build({
    entryPoints: [path.join(from, 'main.tsx'), path.join(from, 'style.css')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    metafile: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    publicPath: '/assets',
    logLevel: 'warning',
  })
  const outputOf = (entry) =>
    path.basename(Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry))[0])
  const html = readFileSync(path.join(from, 'index.html'), 'utf8')
    .replace('/main.css', `/assets/${outputOf('style.css')}`)
    .replace('/main.js', `/assets/${outputOf('main.tsx')}`)
  writeFileSync(path.join(outdir, 'index.html'), html)
}
