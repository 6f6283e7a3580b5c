/* Makes the system's headers declare what POSIX has beyond standard C. To be included before any of them. */

#ifndef OZ_POSIX_H
#define OZ_POSIX_H

#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE
#endif

#endif
