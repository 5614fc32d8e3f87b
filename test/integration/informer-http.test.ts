import { informerSuite } from './informer.suite.ts'
import { httpWorld } from './worlds.ts'

informerSuite('over HTTP', httpWorld)
