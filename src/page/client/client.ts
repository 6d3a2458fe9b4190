/** Code and style of the page, as one bundle each. */

import './page.css';
import './main.js';
