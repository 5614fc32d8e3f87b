import { electionConformance } from '../../src/client/leadership/conformance/index.ts'
import { type World, httpWorld, inProcessWorld } from './worlds.ts'

const within = (open: () => Promise<World>) => async () => {
  const world = await open()
  // Messages that the server has sent on a connection arrive before the response to a later request.
  const settle = () => world.transport.send<void>({ method: 'GET', path: '/version' })
  return { transport: () => world.transport, settle, close: () => world.close() }
}

electionConformance('the server in the same process', within(inProcessWorld), [1, 2, 3])
electionConformance('HTTP', within(httpWorld), [1])
