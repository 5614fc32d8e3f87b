// Bundles src/cli/main.ts and the process runtime's shim into dist/. Generates the schema first if it is out of date.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildPage } from './build-page.mjs'
import { spreads } from './spreads.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
execFileSync(process.execPath, [path.join(root, 'scripts/generate.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] })
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
/** A digest of the names and contents of all files below a folder. */
function digestOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const names = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort()
  const hash = createHash('sha256')
  for (const name of names)
    hash
      .update(`${name}\0`)
      .update(readFileSync(path.join(folder, name)))
      .update('\0')
  return hash.digest('hex')
}

const dist = path.join(root, 'dist')
// Built in another directory and renamed, so that a starting program finds either the old or the new build.
const outdir = `${dist}.new-${process.pid}`
const old = `${dist}.old-${process.pid}`
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  plugins: [spreads],
  external: ['lmdb'],
  define: {
    RELEASE: JSON.stringify(version),
    BUILD: JSON.stringify(digestOf(path.join(root, 'src'))),
    'import.meta.dirname': '__dirname',
  },
  sourcemap: true,
  // The text stays in memory while the program runs. A comment with a character outside of Latin-1 would double its
  // size.
  minifyWhitespace: true,
  lineLimit: 160,
  logLevel: 'warning',
}
const program = path.join(outdir, 'coxswain.program.js')
await Promise.all([
  // One file with all lazy imports, so that a running program does not depend on dist any more. It is a script with one
  // function, because Node 20 accepts compiled code only for scripts.
  build({
    ...common,
    entryPoints: [path.join(root, 'src/cli/main.ts')],
    outfile: program,
    format: 'cjs',
    banner: { js: '(function(require,__dirname){' },
    footer: { js: '})' },
    supported: { 'dynamic-import': false },
  }),
  // The launcher, and the threads that parse large bodies. The shim outlives the program and is small.
  build({
    ...common,
    define: {},
    entryPoints: {
      coxswain: path.join(root, 'src/cli/start.ts'),
      'coxswain-parser': path.join(root, 'src/server/parsing/parser-thread.ts'),
      'coxswain-shim': path.join(root, 'src/node/runtimes/process/shim/main.ts'),
    },
    outdir,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    // Packages in CommonJS call require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  }),
])
await buildPage(path.join(root, 'web'), path.join(outdir, 'web'))
appendFileSync(program, `// ${createHash('sha256').update(readFileSync(program)).digest('hex')}`)
try {
  execFileSync(process.execPath, [path.join(root, 'scripts/compile.mjs'), outdir], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
} catch {
  console.error('the program could not be run yet, so that its starts will take longer: no compiled code was kept')
}
try {
  renameSync(dist, old)
} catch {
  // The first build replaces no directory.
}
renameSync(outdir, dist)
rmSync(old, { recursive: true, force: true })
