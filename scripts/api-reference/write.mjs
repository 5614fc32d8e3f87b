// Writes the reference of the public modules, docs/api/{client,controllers,testing}.md, from their types and comments.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application } from 'typedoc'

const root = path.resolve(fileURLToPath(import.meta.url), '../../..')

const modules = {
  client: 'src/client/index.ts',
  controllers: 'src/controllers/index.ts',
  testing: 'src/cluster/testing.ts',
}
const out = path.join(root, 'docs/api')
mkdirSync(out, { recursive: true })
for (const [name, entryPoint] of Object.entries(modules))
  writeFileSync(path.join(out, `${name}.md`), await page(name, entryPoint))

async function page(name, entryPoint) {
  const folder = mkdtempSync(path.join(tmpdir(), 'coxswain-docs-'))
  try {
    const app = await Application.bootstrapWithPlugins({
      name: `coxswain/${name}`,
      entryPoints: [path.join(root, entryPoint)],
      tsconfig: path.join(root, 'tsconfig.json'),
      plugin: ['typedoc-plugin-markdown'],
      outputs: [{ name: 'markdown', path: folder }],
      readme: 'none',
      skipErrorChecking: true,
      disableSources: true,
      disableGit: true,
      excludePrivate: true,
      excludeProtected: true,
      excludeInternal: true,
      excludeExternals: true,
      exclude: ['**/src/api/generated/**'],
      excludeNotDocumented: false,
      router: 'module',
      entryFileName: 'index',
      hidePageHeader: true,
      hideBreadcrumbs: true,
      useCodeBlocks: true,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      classPropertiesFormat: 'table',
      typeAliasPropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
      propertyMembersFormat: 'table',
      logLevel: 'Error',
    })
    const project = await app.convert()
    if (!project) throw new Error(`TypeDoc cannot read ${entryPoint}`)
    await app.generateOutputs(project)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
    return shortened(files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Removes what the signature shows already: types of results, and names of interfaces and base classes. */
function shortened(text) {
  return text
    .replaceAll(/^#+ (?:Implementation of|Overrides|Inherited from)\n\n.*\n\n?/gm, '')
    .replaceAll(/^#+ Returns\n\n.*\n(?=\n(?:#|\*\*\*)|$)\n?/gm, '')
    .replaceAll('| - |', '| |')
    .replaceAll(/\n{3,}/g, '\n\n')
}
