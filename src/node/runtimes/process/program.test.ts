import { describe, expect, it } from 'vitest'
import type { CatalogueEntry } from './catalogue.ts'
import { hostPathOf, notFoundError, programOf } from './program.ts'

const find = (name: string) => (['sh', '/bin/sh', 'nginx'].includes(name) ? `/found/${name}` : undefined)

describe('programOf() takes', () => {
  it.each<[string, string[], string[], CatalogueEntry | undefined, string[] | 'placeholder']>([
    ['the container\'s command and arguments', ['sh'], ['-c', 'x'], undefined, ['sh', '-c', 'x']],
    ['the container\'s command even where it is not there', ['none'], [], undefined, ['none']],
    ['the image\'s command and arguments', [], [], { image: '', command: ['nginx'], args: ['-g'] }, ['nginx', '-g']],
    ['the image\'s command with the container\'s arguments', [], ['-v'], { image: '', command: ['nginx'], args: ['-g'] }, ['nginx', '-v']],
    ['the container\'s command without the image\'s arguments', ['sh'], [], { image: '', args: ['-g'] }, ['sh']],
    ['arguments for a command, of an image without one', [], ['/bin/sh', '-c', 'x'], { image: '', args: ['sh'] }, ['/bin/sh', '-c', 'x']],
    ['arguments that name a program for a command, of an image that nobody knows', [], ['/bin/sh', '-c', 'x'], undefined, ['/bin/sh', '-c', 'x']],
    ['a placeholder for arguments that name none', [], ['--port=80'], undefined, 'placeholder'],
    ['a placeholder for nothing at all', [], [], undefined, 'placeholder'],
    ['a placeholder for an entry that says nothing', [], [], { image: '', env: {} }, 'placeholder'],
  ])('%s', (_what, command, args, entry, wanted) => {
    const program = programOf({ command, args }, entry, find)
    expect(program.kind === 'placeholder' ? 'placeholder' : program.command).toEqual(wanted)
  })
})

it.each([
  ['/data/a/b', '/host/data/a/b'],
  ['/data/inner/b', '/host/inner/b'],
  ['/data', '/host/data'],
  ['/database', '/database'],
  ['/etc/x', '/etc/x'],
])('hostPathOf() finds %s at %s', (containerPath, hostPath) => {
  const mount = (containerPath: string, hostPath: string) => ({ containerPath, hostPath, readOnly: false, propagation: 'private' as const })
  expect(hostPathOf(containerPath, [mount('/data', '/host/data'), mount('/data/inner', '/host/inner')])).toBe(hostPath)
})

it('notFoundError() says what is missing, and why', () => {
  expect(notFoundError('nginx').message).toMatch(/^unable to start container process: exec: "nginx": executable file not found in \$PATH .*not of the image/)
  expect(notFoundError('/app').message).toContain('exec: "/app": stat /app: no such file or directory')
})
