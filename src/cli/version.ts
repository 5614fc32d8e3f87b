import { type Command, Option } from 'commander'
import { exitCodes } from '../insight/failure.ts'
import { type Session, addConnectionFlags, runSession, say } from './session.ts'
import { type DocumentForm, writeDocument } from './terminal/document.ts'

interface Flags {
  client?: boolean
  output?: DocumentForm
}

/** The displayed part of an API server's /version. */
interface ServerVersion {
  gitVersion: string
  platform: string
}

/** `coxswain version`: the versions of this program, of Node.js, and of the API server of the kubeconfig. */
export function addVersionCommand(program: Command, release: string): void {
  const command = addConnectionFlags(
    program.command('version').description('print the versions of this program and of the API server'),
  )
    .option('--client', 'print only the version of this program; needs no API server')
    .addOption(new Option('-o, --output <form>', 'output format (default: text)').choices(['json', 'yaml']))
  command.action(async () => {
    const { client: isClientOnly = false, output } = command.opts<Flags>()
    const clientVersion = { release, node: process.version, platform: `${process.platform}/${process.arch}` }
    const connecting = isClientOnly ? async () => ({}) as Pick<Session, 'client' | 'namespace'> : undefined
    // Printed before the server is called, as in kubectl, because it may not answer.
    if (!output) console.log(`Client Version: v${release}\nNode.js Version: ${process.version}`)
    await runSession(
      command,
      release,
      async ({ client, out }) => {
        const serverVersion = isClientOnly
          ? undefined
          : await client.transport.send<ServerVersion>({ method: 'GET', path: '/version' })
        if (output) await writeDocument(out, output, { clientVersion, ...(serverVersion ? { serverVersion } : {}) })
        else if (serverVersion) say(out, `Server Version: ${serverVersion.gitVersion}`)
        return exitCodes.ok
      },
      connecting,
    )
  })
}
