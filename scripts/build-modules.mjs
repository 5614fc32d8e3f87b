// Builds the public modules coxswain/client, coxswain/controllers and coxswain/testing into lib/ with their type
// declarations. The program does not need them, so `./bin/coxswain` never waits for this.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { spreads } from './spreads.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const entryPoints = {
  client: 'src/client/index.ts',
  controllers: 'src/controllers/index.ts',
  testing: 'src/cluster/testing.ts',
}
const lib = path.resolve(process.argv[2] ?? path.join(root, 'lib'))
// Built in another directory and renamed, like the program.
const outdir = `${lib}.new-${process.pid}`

/**
 * Adds `| undefined` to optional properties, because our code treats both alike. Otherwise projects with
 * exactOptionalPropertyTypes could not pass optional values.
 */
const optionalProperty = /^( +(?:readonly )?(?:\w+|'[^']+')\?: )([^;]+);$/gm

execFileSync(process.execPath, [path.join(root, 'scripts/generate.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] })
await build({
  entryPoints: Object.fromEntries(Object.entries(entryPoints).map(([name, file]) => [name, path.join(root, file)])),
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // Shared code is bundled once: an ApiError of one module is an ApiError for the others.
  splitting: true,
  chunkNames: 'shared-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [spreads],
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
})
declareTypes(path.join(outdir, 'types'))
rmSync(lib, { recursive: true, force: true })
renameSync(outdir, lib)

function declareTypes(folder) {
  mkdirSync(folder, { recursive: true })
  const config = path.join(folder, 'tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: path.join(root, 'src'),
        outDir: folder,
        typeRoots: [path.join(root, 'node_modules/@types')],
      },
      include: [],
      files: Object.values(entryPoints).map((file) => path.join(root, file)),
    }),
  )
  execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', config], { stdio: ['ignore', 'inherit', 'inherit'] })
  rmSync(config)
  for (const file of readdirSync(folder, { recursive: true }).filter((f) => f.endsWith('.d.ts'))) {
    const at = path.join(folder, file)
    // Declarations import sources. Only the declarations are published.
    const text = readFileSync(at, 'utf8').replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2')
    writeFileSync(
      at,
      text.replace(
        optionalProperty,
        (_, head, type) => `${head}${type.includes('=>') ? `(${type})` : type} | undefined;`,
      ),
    )
  }
}
