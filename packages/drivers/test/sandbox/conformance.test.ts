import { sandboxSuite } from '@nebula/ports/conformance';
import { openSandbox } from './opened.ts';

sandboxSuite('in-process', openSandbox);
