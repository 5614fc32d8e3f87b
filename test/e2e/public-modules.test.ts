import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
let folder = ''

/** Somebody's project that has installed the package. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'coxswain-modules-'))
  const installed = path.join(folder, 'node_modules/coxswain')
  await mkdir(installed, { recursive: true })
  await run(process.execPath, [path.join(root, 'scripts/build-modules.mjs'), path.join(installed, 'lib')])
  await cp(path.join(root, 'package.json'), path.join(installed, 'package.json'))
  // The dependencies of the package, and the compiler of the project.
  const { dependencies } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  for (const name of [...Object.keys(dependencies), 'vitest', '@types/node']) {
    await mkdir(path.dirname(path.join(folder, 'node_modules', name)), { recursive: true })
    await symlink(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name))
  }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await cp(path.join(root, 'examples/forty-lines'), folder, { recursive: true })
  await cp(path.join(root, 'examples/operator'), path.join(folder, 'operator'), { recursive: true })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the public modules', () => {
  it.each([false, true])('have types that a strict project compiles with (exactOptionalPropertyTypes: %s)', async (exactOptionalPropertyTypes) => {
    const compilerOptions = {
      module: 'NodeNext',
      target: 'ES2022',
      lib: ['ES2023'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes,
      noUncheckedIndexedAccess: exactOptionalPropertyTypes,
      noEmit: true,
      allowImportingTsExtensions: true,
    }
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'operator/*.ts'] }))
    const { stdout } = await run(path.join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((e: { stdout: string }) => e)
    expect(stdout).toBe('')
  })

  it('run an operator in a cluster of this process, and share what they share', async () => {
    const program = `
      import { configmaps, isNotFound, ApiError } from 'coxswain/client'
      import { defineController } from 'coxswain/controllers'
      import { startCluster } from 'coxswain/testing'
      const copy = defineController({
        name: 'copy', owner: configmaps, owns: [],
        observe: (_ctx, owner) => owner,
        plan: (seen) => ({ actions: seen.data?.from && !seen.data.to ? [{ kind: 'Copy' }] : [] }),
        apply: { Copy: ({ writer, owner }) => writer.patch(configmaps, owner, { data: { to: owner.data.from } }, { type: 'merge' }) },
      })
      const cluster = await startCluster({ controllers: [copy] })
      const error = await cluster.client.get(configmaps, 'default', 'none').catch((e) => e)
      await cluster.client.create(configmaps, { metadata: { name: 'one', namespace: 'default' }, data: { from: 'x' } })
      let to
      const deadline = Date.now() + 10_000
      while (!to) {
        if (Date.now() > deadline) throw new Error('the operator does nothing')
        await new Promise(setImmediate)
        to = (await cluster.client.get(configmaps, 'default', 'one')).data.to
      }
      await cluster.stop()
      console.log(JSON.stringify({ isNotFound: isNotFound(error), isApiError: error instanceof ApiError, to }))
    `
    await writeFile(path.join(folder, 'program.mjs'), program)
    const { stdout } = await run(process.execPath, [path.join(folder, 'program.mjs')])
    expect(JSON.parse(stdout)).toEqual({ isNotFound: true, isApiError: true, to: 'x' })
  })
})
