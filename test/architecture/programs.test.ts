import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { transformSync } from 'esbuild'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const programs = readdirSync(path.join(root, 'bin')).filter((name) => name !== 'package.json')

/** An older Node.js: it tells its version, and neither detects nor requires modules of the newer kind. */
const pretend = (version: string) => [
  '--no-experimental-detect-module',
  '--no-experimental-require-module',
  '--import',
  `data:text/javascript,${encodeURIComponent(`Object.defineProperty(process.versions, 'node', { value: '${version}' })`)}`,
]

it('the programs are all that package.json names', () => {
  const { bin } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  expect(Array.from(new Set(Object.values(bin)), (file) => path.basename(file)).sort()).toEqual(programs.sort())
})

it('programs are CommonJS: Node.js before 20.10 refuses a file without an extension whose package is of modules', () => {
  expect(JSON.parse(readFileSync(path.join(root, 'bin/package.json'), 'utf8'))).toEqual({ type: 'commonjs' })
})

it.each(programs)('%s has no syntax of after 2015, apart from import()', (program) => {
  const text = readFileSync(path.join(root, 'bin', program), 'utf8')
  const as = (target: string) => transformSync(text, { target, format: 'cjs', supported: { 'dynamic-import': true } }).code
  expect(as('es2015')).toBe(as('esnext'))
  expect(text).not.toMatch(/^import |^await |\brequire\('node:/m)
})

it.each(programs.flatMap((program) => ['18.0.0', '18.20.8', '20.9.0', '20.18.3'].map((version) => [program, version] as const)))(
  '%s tells Node.js %s in one sentence that it is too old', (program, version) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...pretend(version), path.join(root, 'bin', program), 'up'], { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: `coxswain: needs Node.js 20.19 or newer, and this is v${version}\n` })
  })

it('the package contains the programs and the file that says what they are', () => {
  const { files } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { files: string[] }
  expect(files).toContain('bin')
  expect(readdirSync(path.join(root, 'bin')).sort()).toEqual([...programs, 'package.json'].sort())
})
